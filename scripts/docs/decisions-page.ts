/** The index of decisions, from the first line of each. */
import { readdirSync, readFileSync } from 'node:fs';
import { table } from './schema.ts';

const folder = 'docs/decisions';

export function decisionsPage(): string {
  const files = readdirSync(folder).filter((name) => /^\d{4}-/.test(name));
  return `# Decisions

<!-- Made by \`npm run docs\` from the first line of each decision. -->

Choices that may surprise, each with its reasons, half a page. All of them hold; one that no longer does says so in its first line. A new decision is a new
file with the next free number; its name is the number and the words of its title. Numbers have gaps.

${table(['number', 'decision'], files.sort().map(rowOf))}
`;
}

function rowOf(file: string): string[] {
  const [, number = '', title = ''] = /^# (\d+)\. (.+)$/m.exec(readFileSync(`${folder}/${file}`, 'utf8')) ?? [];
  const expected = `${number.padStart(4, '0')}-${words(title)}.md`;
  if (file !== expected)
    throw new Error(`${file} does not begin with "# NUMBER. TITLE", or its name should be ${expected}`);
  return [number, `[${title}](${file})`];
}

function words(title: string): string {
  return title
    .toLowerCase()
    .replace(/['/]/g, '')
    .replace(/[^a-z0-9]+/g, '-');
}
