import { expect, it } from 'vitest';
import { fieldsAt, jsonSchema } from './schema.ts';

it('schema/carrel.schema.json is current; if not, run: npm run docs', async () => {
  const text = `${JSON.stringify(jsonSchema(), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../../../schema/carrel.schema.json');
});

it('fieldsAt lists the fields that are allowed at a path', () => {
  expect(fieldsAt([])).toContain('sandboxes');
  expect(fieldsAt(['sandboxes', 'x'])).toContain('command');
  expect(fieldsAt(['sandboxes', 'x', 'limits'])).toEqual(['cpus', 'memory', 'swap', 'pids', 'disk']);
  expect(fieldsAt(['sandboxes'])).toBeNull();
  expect(fieldsAt(['nothing', 'of', 'it'])).toBeNull();
});
