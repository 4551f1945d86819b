// Names what the theme makes in the browser, and lets keys reach what is wider than the screen.
(() => {
  const number = (nav) => nav.parentElement.id.replace("__code_", "");
  const mend = () => {
    for (const nav of document.querySelectorAll(".md-code__nav:not([aria-label])")) nav.setAttribute("aria-label", `Code block ${number(nav)}`);
    for (const wide of document.querySelectorAll(":is(.md-typeset__scrollwrap, .md-typeset pre > code):not([tabindex])")) {
      if (wide.scrollWidth <= wide.clientWidth) continue;
      wide.tabIndex = 0;
      if (wide.matches("code")) continue;
      wide.setAttribute("role", "group");
      wide.setAttribute("aria-label", "Table");
    }
  };
  // The theme also takes the index off again, where it takes the screen for a telephone.
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true, attributeFilter: ["tabindex"] });
  addEventListener("resize", mend);
  mend();
})();
