import { expect, test } from 'vitest';
import { z } from 'zod';
import { defaultGroups } from '../../model/token.ts';
import { hubTools } from '../user-hub.ts';

/** The tool as an MCP client gets it. */
function listed({ name, description, input, changes, destroys, group }: (typeof hubTools)[number]): string {
  const annotations = { readOnlyHint: !changes, destructiveHint: destroys, openWorldHint: group === 'run' };
  const inputSchema = z.toJSONSchema(input, { io: 'input' });
  return JSON.stringify({ name, description, inputSchema, annotations });
}

test('the default tools cost a client at most 6,000 tokens of about four characters', () => {
  const sizes = hubTools
    .filter(({ group }) => defaultGroups.includes(group))
    .map((tool) => [tool.name, listed(tool).length]);
  const total = sizes.reduce((sum, [, size]) => sum + Number(size), 0);
  expect(total / 4, JSON.stringify(sizes)).toBeLessThan(6000);
});
