(() => {
  const script = document.currentScript, it = IT, host = document.createElement("span"), link = document.createElement("a"), style = new CSSStyleSheet();
  const root = host.attachShadow({ mode: "open" });
  style.replaceSync(STYLE);
  root.adoptedStyleSheets = [style];
  link.href = script.src.replace(/\/widget\.js.*$/, "") || "/";
  link.className = it.state;
  link.title = it.title;
  link.lang = it.lang;
  link.textContent = it.sentence;
  root.append(link);
  script.after(host);
})();
