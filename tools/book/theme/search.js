// Full-text search of BOOK, which index.js holds: nothing is fetched, so that it works from disk.
"use strict";
(() => {
  const box = document.getElementById("search");
  const query = document.getElementById("query");
  const list = document.getElementById("results");
  const found = document.getElementById("found");
  const MOST = 12, AROUND = 60;
  const fold = (text) => text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const isWord = (letter) => letter !== undefined && /[\p{L}\p{N}]/u.test(letter);
  const sections = BOOK.sections.map(([page, anchor, heading, text], i) => ({
    href: BOOK.pages[page][0] + "#" + anchor, page: BOOK.pages[page][1], heading, text,
    first: i === 0 || BOOK.sections[i - 1][0] !== page,
    inTitle: fold(BOOK.pages[page][1]), inHeading: fold(heading), inText: fold(text),
  }));
  let active = -1;

  // How often a word begins in a text; where it is a whole word, it counts twice.
  function hits(text, term) {
    let count = 0;
    for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + term.length)) {
      if (!isWord(text[at - 1])) count += isWord(text[at + term.length]) ? 1 : 2;
    }
    return count;
  }

  // Titles weigh more than headings, headings more than text; every word must be there.
  function score(section, terms) {
    let total = 0;
    for (const term of terms) {
      const title = hits(section.inTitle, term), heading = hits(section.inHeading, term);
      const text = hits(section.inText, term);
      if (title + heading + text === 0) return 0;
      total += title * (section.first ? 30 : 1) + heading * 10 + Math.min(text, 8);
    }
    return total;
  }

  function search(terms) {
    return sections.map((section) => [score(section, terms), section])
      .filter(([points]) => points > 0).sort((x, y) => y[0] - x[0]).map(([, section]) => section);
  }

  function excerpt(section, terms) {
    const places = terms.map((term) => section.inText.indexOf(term)).filter((at) => at >= 0);
    // Folding may move letters by a few places, which an excerpt can bear.
    const from = places.length ? Math.max(0, Math.min(...places) - AROUND) : 0;
    const start = from ? section.text.indexOf(" ", from) : 0;
    const text = (start ? "…" : "") + section.text.slice(start, start + 3 * AROUND) + "…";
    const parts = document.createElement("span");
    let rest = text, folded = fold(text);
    for (;;) {
      const next = terms.map((term) => [folded.indexOf(term), term]).filter(([at]) => at >= 0)
        .sort((x, y) => x[0] - y[0])[0];
      if (!next || folded.length !== rest.length) break;
      const mark = document.createElement("mark");
      mark.textContent = rest.slice(next[0], next[0] + next[1].length);
      parts.append(rest.slice(0, next[0]), mark);
      rest = rest.slice(next[0] + next[1].length);
      folded = folded.slice(next[0] + next[1].length);
    }
    parts.append(rest);
    return parts;
  }

  function option(section, terms, number) {
    const item = document.createElement("li");
    item.id = "result" + number;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", "false");
    item.dataset.href = section.href;
    const title = document.createElement("b");
    title.textContent = section.first ? section.page : section.page + ": " + section.heading;
    item.append(title, excerpt(section, terms));
    item.addEventListener("click", () => go(item));
    return item;
  }

  function show() {
    const terms = fold(query.value).split(/\s+/).filter(Boolean);
    const places = terms.length ? search(terms) : [];
    list.replaceChildren(...places.slice(0, MOST).map((place, i) => option(place, terms, i)));
    list.hidden = places.length === 0;
    query.setAttribute("aria-expanded", String(!list.hidden));
    const more = places.length > MOST ? ", " + MOST + " shown" : "";
    const count = places.length === 1 ? "1 place" : (places.length || "no") + " places";
    found.textContent = terms.length ? count + more : "";
    select(-1);
  }

  function select(number) {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = number;
    const item = list.children[active];
    item?.setAttribute("aria-selected", "true");
    item?.scrollIntoView({ block: "nearest" });
    if (item) query.setAttribute("aria-activedescendant", item.id);
    else query.removeAttribute("aria-activedescendant");
  }

  function go(item) {
    location.href = item.dataset.href;
    close();
  }

  function close() {
    query.value = "";
    show();
    query.blur();
  }

  query.addEventListener("input", show);
  query.addEventListener("keydown", (event) => {
    const size = list.children.length;
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && size) go(list.children[Math.max(active, 0)]);
    else if (event.key === "ArrowDown" && size) select((active + 1) % size);
    else if (event.key === "ArrowUp" && size) select(active > 0 ? active - 1 : size - 1);
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || document.activeElement === query) return;
    event.preventDefault();
    query.focus();
  });
  document.addEventListener("click", (event) => {
    if (!box.contains(event.target)) list.hidden = true;
  });
  query.addEventListener("focus", () => { list.hidden = list.children.length === 0; });
  box.hidden = false;
})();
