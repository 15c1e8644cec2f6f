/** The index of decisions, from the first line of each. */
import { readdirSync, readFileSync } from 'node:fs';
import { table } from './schema.ts';

const folder = 'docs/decisions';

export function decisionsPage(): string {
  const files = new Map(
    readdirSync(folder)
      .filter((name) => /^\d{4}-/.test(name))
      .map((name) => [Number(name.slice(0, 4)), name]),
  );
  const last = Math.max(...files.keys());
  const rows = Array.from({ length: last }, (_, index) => rowOf(index + 1, files.get(index + 1)));
  return `# Decisions

<!-- Made by \`npm run docs\` from the first line of each decision. -->

Choices that may surprise, each with its reasons, half a page. All of them hold; one that no longer does says so in its first line. A new decision is a new
file with the next free number.

${table(['number', 'decision'], rows)}
`;
}

function rowOf(number: number, file: string | undefined): string[] {
  if (file === undefined) return [`${number}`, 'This number was never used.'];
  const title = /^# (\d+)\. (.+)$/m.exec(readFileSync(`${folder}/${file}`, 'utf8'));
  if (Number(title?.[1]) !== number) throw new Error(`${file} does not begin with "# ${number}. TITLE"`);
  return [`${number}`, `[${title![2]}](${file})`];
}
