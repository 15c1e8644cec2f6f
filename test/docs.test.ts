/** The generated pages of docs/ are current, and their examples are valid. `npm run docs` writes the pages. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
