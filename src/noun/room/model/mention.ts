/** Mentions in the body of a message, as docs/formats/room.md describes them. */

export const everyone = 'all';

const fence = /^ {0,3}(`{3,}|~{3,})/;
const mention = /(?<![^\s([{"'])@([A-Za-z0-9_+][A-Za-z0-9._:+-]{0,200})/g;
const nameLength = 64;

/** Names without repetition, in the order of the text. */
export function mentionsIn(body: string): string[] {
  const found = new Set<string>();
  for (const line of outsideFences(body)) {
    for (const [, text] of withoutCode(line).matchAll(mention)) {
      const name = text!.replace(/[.:-]+$/, '');
      if (name.length <= nameLength) found.add(name);
    }
  }
  return [...found];
}

function* outsideFences(body: string): Generator<string> {
  let open: string | null = null;
  for (const line of body.split('\n')) {
    const mark = fence.exec(line)?.[1];
    if (open === null && mark === undefined) yield line;
    else if (open === null) open = mark!;
    else if (mark !== undefined && mark[0] === open[0] && mark.length >= open.length) open = null;
  }
}

/** A code span ends with as many backquotes as it begins with. */
function withoutCode(line: string): string {
  if (!line.includes('`')) return line;
  const marks = [...line.matchAll(/`+/g)];
  const ends = closingMarks(marks.map(([text]) => text.length));
  let [kept, at] = ['', 0];
  for (let index = 0; index < marks.length; index += 1) {
    const end = ends[index]!;
    if (end === null) continue;
    kept += `${line.slice(at, marks[index]!.index)}\``;
    at = marks[end]!.index + marks[end]![0].length;
    index = end;
  }
  return kept + line.slice(at);
}

/** For each mark the next one of the same length. */
function closingMarks(lengths: readonly number[]): (number | null)[] {
  const next = new Map<number, number>();
  const ends: (number | null)[] = lengths.map(() => null);
  for (let index = lengths.length - 1; index >= 0; index -= 1) {
    ends[index] = next.get(lengths[index]!) ?? null;
    next.set(lengths[index]!, index);
  }
  return ends;
}
