"use strict";
// Searches and sorts the table of submissions. The page also works without this script.
const SPELT = { ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", ı: "i", ħ: "h", þ: "th" };
const body = document.querySelector("#submissions tbody");
const rows = Array.from(body.rows);
const texts = rows.map((row) => [row.textContent, ...Array.from(row.cells, (cell) => cell.title)].join(" ")).map(fold);
const shown = document.querySelector("#shown");

// Return the text in lower case and without accents, so that "lukasz wojcik" finds Łukasz Wójcik.
function fold(text) {
    const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/\p{M}/gu, "");
    return plain.replace(/[^\x00-\x7f]/g, (letter) => SPELT[letter] ?? letter);
}

function search(words) {
    const wanted = fold(words).split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, index) => {
        row.hidden = !wanted.every((word) => texts[index].includes(word));
        count += !row.hidden;
    });
    shown.textContent = `${count} of ${rows.length}`;
}

function key(row, column) {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
}

function sort(header) {
    const column = header.cellIndex;
    const before = header.getAttribute("aria-sort");
    // The first click sorts words from A to Z, and numbers from the largest.
    const down = before ? before === "ascending" : header.classList.contains("number");
    for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const order = new Intl.Collator(undefined, { numeric: true });
    const keyed = rows.map((row) => [key(row, column), row]);
    keyed.sort(([a], [b]) => {
        const numbers = typeof a === "number" && typeof b === "number";
        return (down ? -1 : 1) * (numbers ? a - b : order.compare(String(a), String(b)));
    });
    body.append(...keyed.map(([, row]) => row));
}

document.querySelector("#search").addEventListener("input", (event) => search(event.target.value));
document.querySelectorAll("#submissions thead th").forEach((header) => {
    header.querySelector("button").addEventListener("click", () => sort(header));
});
search("");
