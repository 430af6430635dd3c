// Keeps an open page up to date, and moves between its bars with the keyboard. The page works without it.
(() => {
  const { src, dataset } = document.currentScript;
  const base = src.replace(/\/live\.js$/, "");
  // Time at which the page was current, and whether it was renewed since it was opened.
  let current = new Date(),
    isRenewed = false;
  // Notice that the page cannot be renewed.
  const notice = document.createElement("p");
  notice.className = "note";
  notice.setAttribute("role", "status");
  const isWriting = () => document.activeElement.matches("main :is(input,select,textarea,button)");
  const renew = async () => {
    if (document.hidden) return;
    const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(
      () => null,
    );
    if (!answer || !answer.ok) {
      // The visitor has lost access, or the page is gone.
      // Only after a success, so that it cannot reload forever.
      if (isRenewed && answer && [401, 403, 404].includes(answer.status)) {
        if (!isWriting()) location.reload();
        return;
      }
      notice.textContent = dataset.old.replace("{}", formatter().format(current));
      document.querySelector("main").prepend(notice);
      return;
    }
    notice.remove();
    current = new Date();
    isRenewed = true;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    const open = new Set(
      [...document.querySelectorAll("details[open]")].map((it) => it.dataset.id),
    );
    next.querySelectorAll("details").forEach((it) => {
      if (open.has(it.dataset.id)) it.open = true;
    });
    const old = document.querySelector("main"),
      main = next.querySelector("main");
    const focused = document.activeElement,
      held = old.contains(focused);
    // Nobody who is writing is interrupted.
    if (!main || isWriting()) return;
    const walked = held && focused.closest(".walk") && focused.closest("[id]").id;
    old.replaceWith(main);
    document.title = next.title;
    ready();
    local();
    if (walked) fill(document.getElementById(walked)?.querySelector(".bars"));
    const same =
      held && [...main.querySelectorAll("a,summary")].find((it) => name(it) === name(focused));
    if (same) {
      alone(same);
      same.focus({ preventScroll: true });
    }
  };
  // Identifies an element across updates: by the target of a link, or by the folded entry.
  const name = (it) =>
    [it.tagName, it.href, it.closest("[data-id]")?.dataset.id, it.closest("[id]")?.id].join();
  // The keyboard stops once at each row of bars: at today.
  const ready = () => {
    for (const bars of document.querySelectorAll(".bars[role=group]")) {
      const walk = document.createElement("div");
      walk.className = "walk";
      walk.append(link(bars, days().length - 1));
      walk.firstChild.tabIndex = 0;
      bars.querySelectorAll("a").forEach((it) => it.setAttribute("tabindex", "-1"));
      bars.append(walk);
    }
  };
  // Times in the visitor's zone, with UTC beside them. Creating the formatter takes as long as painting the page.
  const formatter = () => {
    const { lang } = document.documentElement;
    return new Intl.DateTimeFormat(navigator.languages.find((it) => it.startsWith(lang)) || lang, {
      dateStyle: "medium",
      timeStyle: "short",
    });
  };
  const local = () => {
    const format = formatter();
    document.querySelectorAll("time[datetime*=T]:not([title])").forEach((time) => {
      const at = new Date(time.dateTime);
      time.title = time.textContent;
      if (at.getTimezoneOffset())
        time.textContent = `${format.format(at)} (${time.dateTime.slice(11, 16)} UTC)`;
    });
  };
  const days = () => document.getElementById("days").content.children;
  // Link of a day in a row, with its text. The texts of events are in the image.
  const link = (bars, place) => {
    const it = days()[place].cloneNode(),
      { well, none } = document.getElementById("days").dataset;
    const drawn = bars.querySelector(`svg a[href="${it.getAttribute("href")}"] title`);
    const x = 8 * place;
    const silent = [...bars.querySelectorAll(".fn")].some(
      (run) => run.x.baseVal.value <= x && x < run.x.baseVal.value + run.width.baseVal.value,
    );
    it.title = drawn ? drawn.textContent : `${it.title}: ${silent ? none : well}`;
    return it;
  };
  // Links of all days of a row, when somebody comes near: nobody needs thousands to see a page.
  const fill = (bars) => {
    const walk = bars && bars.querySelector(".walk");
    if (!walk || walk.childElementCount > 1) return;
    walk.prepend(...[...days()].slice(0, -1).map((_, place) => link(bars, place)));
    bars.firstChild.setAttribute("aria-hidden", "true");
    bars.querySelectorAll("svg a").forEach((it) => it.replaceWith(...it.querySelectorAll("rect")));
  };
  const alone = (it) => {
    it.closest(".walk")
      ?.querySelectorAll("[tabindex='0']")
      .forEach((other) => {
        other.tabIndex = -1;
      });
    if (it.closest(".walk")) it.tabIndex = 0;
  };
  const near = (event) => fill(event.target.closest?.(".c")?.querySelector(".bars"));
  document.addEventListener("pointerover", near);
  document.addEventListener("focusin", near);
  document.addEventListener("keydown", (event) => {
    const bar = event.target.closest && event.target.closest(".walk a");
    const way = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (!bar || way === undefined) return;
    const bars = [...bar.parentNode.children].filter((it) => it.offsetParent);
    const place = bars.indexOf(bar) + (document.dir === "rtl" ? -way : way);
    const next = bars[Math.max(0, Math.min(bars.length - 1, place))];
    alone(next);
    next.focus();
    event.preventDefault();
  });
  // The page has to be there, and to be painted, first.
  const start = () => {
    ready();
    document.addEventListener("visibilitychange", renew);
    setInterval(renew, 30000);
    setTimeout(() => {
      local();
      const events = new EventSource(base + "/events");
      events.addEventListener("changed", renew);
      events.addEventListener("open", renew);
      // The server rejected the stream, for example because the visitor has lost access.
      events.addEventListener("error", () => events.readyState === EventSource.CLOSED && renew());
    }, 250);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
