// Makes the search work when the site is opened from disk, where browsers start no workers. The script of the worker
// runs in a hidden frame instead of a thread. Material asks for the name IFrameWorker to know that it does.
(() => {
  if (location.protocol !== "file:") return;

  class FrameWorker extends EventTarget {
    #frame = document.createElement("iframe");
    #ready;

    constructor(url) {
      super();
      this.#frame.hidden = true;
      this.#frame.title = "Search";
      document.body.append(this.#frame);
      const inside = this.#frame.contentWindow;
      inside.document.open();
      inside.document.write("<!doctype html><html lang=en><title>Search</title><body>");
      inside.document.close();
      const load = (source) => new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.addEventListener("load", resolve);
        script.addEventListener("error", reject);
        script.src = source;
        inside.document.body.append(script);
      });
      inside.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.#ready = load(url);
    }

    postMessage(data) {
      const inside = this.#frame.contentWindow;
      this.#ready.then(() => inside.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })));
    }

    terminate() {
      this.#frame.remove();
    }
  }

  window.Worker = window.IFrameWorker = FrameWorker;
})();
