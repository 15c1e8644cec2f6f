/** The program that writes the settings of an agent before it starts. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('the program that writes settings names those that it could not write in one line, and lets the agent start', () => {
  const home = mkdtempSync(join(tmpdir(), 'carrel-home-'));
  try {
    mkdirSync(join(home, 'taken'));
    const file = (path: string) => ({ path, set: { trusted: true }, defaults: {} });
    const settings = JSON.stringify({ files: [file('taken'), file('.agent/settings.json')] });
    const { status, stderr } = spawnSync(process.execPath, ['dist/program/carrel-agent.js', settings], {
      env: { HOME: home },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([
      0,
      expect.stringMatching(/^carrel: \S+\/taken: E.*, ignoring; the agent may ask questions of a first start\n$/),
    ]);
    expect(JSON.parse(readFileSync(join(home, '.agent/settings.json'), 'utf8'))).toEqual({ trusted: true });
  } finally {
    rmSync(home, { recursive: true });
  }
});
