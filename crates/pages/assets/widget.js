// Replaces its tag with a link to the status page that shows the overall status. The server replaces
// the two names in capitals.
(() => {
  const script = document.currentScript;
  const it = IT;
  const host = document.createElement("span");
  const link = document.createElement("a");
  const style = new CSSStyleSheet();
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
