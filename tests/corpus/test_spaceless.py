"""Languages without spaces: texts that were not cut into words are warned of, all others are not."""

import logging

import pytest

from stickbreak.corpus import TextOptions, count_texts
from stickbreak.exceptions import InvalidCorpus

ALL = TextOptions(min_df=1, max_df=1.0, stop_words=None)
UNCUT = {
    "clauses of Chinese": "今天天气很好，我们去公园，孩子们玩得开心，晚上回家吃饭，然后看电视剧",
    "Chinese": "我昨天去超市买了面包和黄油，然后回家做饭。今天天气非常好，我们打算去公园散步。",
    "Japanese": "昨日スーパーへ行ってパンとバターを買いました。今日は天気がいいので公園を散歩します。",
    "Thai": "เมื่อวานนี้ฉันไปซูเปอร์มาร์เก็ตเพื่อซื้อขนมปังและเนย วันนี้อากาศดีมากเราจึงไปเดินเล่นที่สวนสาธารณะ",
    "Lao": "ມື້ວານນີ້ຂ້ອຍໄປຕະຫຼາດເພື່ອຊື້ເຂົ້າຈີ່ແລະເນີຍ",
    "Khmer": "ម្សិលមិញខ្ញុំបានទៅផ្សារទំនើបដើម្បីទិញនំប៉័ងនិងប៊ឺ",
    "Burmese": "မနေ့ကကျွန်တော်စူပါမားကတ်သို့ပေါင်မုန့်နှင့်ထောပတ်ဝယ်ရန်သွားခဲ့သည်",
}
CUT = {
    "Chinese": "我 昨天 去 超市 买 了 面包 和 黄油 克里斯蒂亚诺 中华人民共和国 然后 回家 做饭 画蛇添足",
    "Japanese": "昨日 スーパーマーケット へ 行って パン と バター を 買いました コンピュータープログラミング",
    "Thai": "เมื่อวาน ฉัน ไป ซูเปอร์มาร์เก็ต เพื่อ ซื้อ ขนมปัง และ เนย มหาวิทยาลัย",
    "Korean": "어제 나는 슈퍼마켓에서 빵과 버터를 샀다 국립중앙박물관관람안내서비스이용자",
    "names in English": "The novelist 村上春樹 and the painter 葛飾北斎 were quoted in a paper about bread and butter",
    "a sentence in English": "He said 我昨天去超市买了面包 and "
    + "then nothing more was said about bread or butter " * 5,
    "English": "bread and butter",
    "German": "Donaudampfschifffahrtsgesellschaftskapitän",
}


@pytest.mark.parametrize("pattern", [None, r"\S+"])
@pytest.mark.parametrize("pairs", [(1, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("language", UNCUT)
def test_sentences_taken_for_words_are_warned_of(caplog, language, pairs, pattern):
    options = TextOptions(min_df=1, max_df=1.0, stop_words=None, token_pattern=pattern, ngram_range=pairs)
    count_texts([f"{UNCUT[language]} bread {UNCUT[language]}"], options)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "language written without spaces; give a function that cuts texts into words" in record.getMessage()
    assert "--tokenizer jieba:lcut" in record.getMessage()


@pytest.mark.parametrize("pattern", [None, r"[^\W\d_]{2,}", r"\S+", r"\w"])
@pytest.mark.parametrize("language", CUT)
def test_words_are_not_warned_of(caplog, language, pattern):
    count_texts([CUT[language]], TextOptions(min_df=1, max_df=1.0, token_pattern=pattern, stop_words=None))
    assert caplog.records == []


def test_pruned_sentences_are_refused_with_the_same_advice():
    texts = [f"{UNCUT['Chinese'][:8]}{chr(0x4E00 + i)}{UNCUT['Chinese'][8:10]}" for i in range(100)]
    with pytest.raises(
        InvalidCorpus, match=r"no word is left of 100 in 100 documents: .* give a function that cuts texts into words"
    ):
        count_texts(texts, TextOptions(min_df=5))


def test_a_pattern_of_two_letters_keeps_short_words():
    words = count_texts([CUT["Chinese"]], TextOptions(min_df=1, max_df=1.0, token_pattern=r"[^\W\d_]{2,}")).words
    assert {"昨天", "超市", "面包", "黄油"} <= set(words)
    assert "面包" not in count_texts([CUT["Chinese"]], ALL).words
