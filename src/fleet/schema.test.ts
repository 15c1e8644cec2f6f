import { expect, it } from 'vitest';
import { fieldsAt, jsonSchema } from './schema.ts';

// After a change of the schema: npx vitest run --project unit src/fleet --update
it('is published for editors, in step', async () => {
  const text = `${JSON.stringify(jsonSchema(), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../schema/carrel.schema.json');
});

it('says which fields may stand where', () => {
  expect(fieldsAt([])).toContain('sandboxes');
  expect(fieldsAt(['sandboxes', 'x'])).toContain('command');
  expect(fieldsAt(['sandboxes', 'x', 'limits'])).toEqual(['cpus', 'memory', 'swap', 'pids', 'disk']);
  expect(fieldsAt(['sandboxes'])).toBeNull();
  expect(fieldsAt(['nothing', 'of', 'it'])).toBeNull();
});
