/** The generated pages of docs/ are current, their examples are valid, and decisions exist. `npm run docs` writes the pages. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { pages } from '../scripts/docs/docs.ts';
import { readmePage } from '../scripts/docs/readme-page.ts';
import { exampleOf, type JsonSchema } from '../scripts/docs/schema.ts';
import { configJsonSchema } from '../scripts/docs/settings-page.ts';
import { readConfig } from '../src/kernel/settings/config.ts';
import { hubService } from '../src/noun/hub/model/service.ts';
import { fleetSchema, jsonSchema } from '../src/noun/project/fleet/schema.ts';

it.each(Object.entries(pages))('docs/%s is current; if not, run: npm run docs', async (name, page) => {
  await expect(page()).toMatchFileSnapshot(`../docs/${name}`);
});

it('the README lists every command; if not, run: npm run docs', async () => {
  await expect(readmePage()).toMatchFileSnapshot('../README.md');
});

it('the examples of config.yaml are valid together', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // readConfig reads files of authorities, and the one of the example does not exist here.
  const { authorities, ...rest } = exampleOf(configJsonSchema(), 'name') as Record<string, unknown>;
  writeFileSync(join(folder, 'config.yaml'), stringify(rest));
  expect(authorities).toEqual([expect.any(String)]);
  expect(readConfig(join(folder, 'config.yaml'))).toMatchObject({
    services: [{ port: 17010 }, hubService],
    volumePrefix: 'lab',
  });
});

it('the examples of carrel.yaml are valid together', () => {
  const example = exampleOf(jsonSchema() as JsonSchema, 'ada');
  expect(fleetSchema.parse(example)).toMatchObject({ sandboxes: { ada: { project: 'shop' } } });
});

it('each decision that code, tests and documents name by number exists', () => {
  const known = readdirSync('docs/decisions').map((name) => Number(name.slice(0, 4)));
  const files = ['src', 'test', 'scripts', 'docs', '.'].flatMap((folder) =>
    readdirSync(folder, { recursive: folder !== '.', encoding: 'utf8' })
      .filter((name) => /\.(md|ts|cts|mjs)$/.test(name) && !name.includes('node_modules/'))
      .map((name) => join(folder, name)),
  );
  const named = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bdecisions? (\d+)(?: (?:and|or) (\d+))?/gi)].flatMap(([, ...numbers]) =>
      numbers.filter((number) => number !== undefined).map((number) => [file, Number(number)] as const),
    ),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(([, number]) => !known.includes(number))).toEqual([]);
});
