import { expect, it } from 'vitest';
import { Fault } from '../../../model/fault.ts';
import type { HttpSettings } from '../installation.ts';
import { defaultHttp } from './config.ts';
import { portRow } from './port-row.ts';

const mcp = 'http://127.0.0.1:3000/mcp';
const taken = new Fault('unavailable', 'another program listens on 127.0.0.1:3000', { hint: 'Use another port' });
const row = (at: string | null, http: Partial<HttpSettings> | null, fault: Fault | null = null) =>
  portRow(at, { settings: () => http && { ...defaultHttp, ...http }, refusal: async () => fault });

it.each([
  ['the port is off', await row(null, null), { level: 'ok', detail: 'off; carrel up --port 3000 opens it' }],
  [
    'the port is off and taken',
    await row(null, null, taken),
    { level: 'warning', detail: `off; ${taken.message}`, hint: taken.hint },
  ],
  ['the port was opened by --port', await row(mcp, null, taken), { level: 'ok', detail: `listening at ${mcp}` }],
  ['the port was opened by config.yaml', await row(mcp, {}, taken), { level: 'ok', detail: `listening at ${mcp}` }],
  [
    'config.yaml asks for any free port',
    await row(mcp, { port: 0 }, taken),
    { level: 'ok', detail: `listening at ${mcp}` },
  ],
  [
    'config.yaml names another port for the next start',
    await row(mcp, { port: 4000 }),
    { level: 'ok', detail: expect.stringContaining('start at 4000') },
  ],
  [
    'the port for the next start is taken',
    await row(mcp, { port: 4000 }, taken),
    { level: 'warning', hint: taken.hint },
  ],
])('the row for the port shows it if %s', async (_, found, expected) => {
  expect(found).toMatchObject({ name: 'mcp-port', ...expected });
});
