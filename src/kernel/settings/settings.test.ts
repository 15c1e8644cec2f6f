import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { comeAs, serve, withToken } from '../../../test/fixtures/served.ts';
import { routes } from '../../noun/app.ts';
import { Settings } from './settings.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-settings-'));
  path = join(folder, 'config.yaml');
});
afterEach(() => rmSync(folder, { recursive: true }));

function opened(text: string): Settings {
  writeFileSync(path, text);
  return new Settings(path);
}

describe('settings', () => {
  it('are read again when the file was changed, created or removed', () => {
    const settings = new Settings(path);
    const { config } = settings;
    const images = () => {
      settings.refresh();
      return config.images;
    };
    expect(images()).toEqual([]);
    writeFileSync(path, 'images: [a]\n');
    expect(images()).toEqual(['a']);
    writeFileSync(path, 'images: [b]\n');
    expect(images()).toEqual(['b']);
    rmSync(path);
    expect(images()).toEqual([]);
  });

  it('are read again when another file of the same size and time replaces the file', () => {
    const settings = opened('images: [a]\n');
    writeFileSync(`${path}.new`, 'images: [b]\n');
    for (const file of [path, `${path}.new`]) utimesSync(file, 1000, 1000);
    settings.refresh();
    renameSync(`${path}.new`, path);
    settings.refresh();
    expect(settings.config.images).toEqual(['b']);
  });

  it('with a mistake are refused with file, line and hint, and the last good ones stay in use', () => {
    const settings = opened('images: [a]\nlimits: {memory: 1g}\n');
    writeFileSync(path, 'images: [b]\nlimits:\n  memory: lots\n');
    const refusal = {
      code: 'invalid',
      message: expect.stringContaining(`${path}:3:3: limits.memory: "lots" is not a size`),
      hint: expect.stringContaining('uses the settings it read before'),
    };
    expect(() => settings.refresh()).toThrow(expect.objectContaining(refusal));
    expect(settings.config).toMatchObject({ images: ['a'], limits: { memoryBytes: 2 ** 30 } });
    writeFileSync(path, 'images: [c]\n');
    settings.refresh();
    expect(settings.config.images).toEqual(['c']);
  });

  it('that are used only at the start stay as they are, and the notice names them once', () => {
    const settings = opened('audit: {size: 1m}\n');
    writeFileSync(path, 'audit: {size: 2m}\nshare: {socket: /s}\nimages: [b]\n');
    settings.refresh();
    expect(settings.config).toMatchObject({ sharedSocket: null, audit: { maxBytes: 2 ** 20 }, images: ['b'] });
    expect(settings.waiting).toEqual(['share.socket', 'audit']);
    expect(settings.notice()).toMatch(/^share.socket, audit in config.yaml: used when the daemon starts again/);
    expect(settings.notice()).toBeNull();
    writeFileSync(path, 'audit: {size: 1m}\n');
    settings.refresh();
    expect([settings.waiting, settings.notice()]).toEqual([[], null]);
  });
});

describe('a request', () => {
  it('that depends on settings is refused to the owner while they have a mistake; others are served', async () => {
    const { home, call, shared, addUser, dispose } = serve();
    try {
      const token = await addUser('bob');
      writeFileSync(join(home, 'config.yaml'), 'images: [a]\nimmages: [b]\n');
      expect(await call('POST', '/v1/sandboxes', { name: 'a' })).toMatchObject({
        status: 400,
        body: { code: 'invalid', message: expect.stringContaining('config.yaml:2:1') },
      });
      expect((await call('GET', '/v1/sandboxes')).status).toBe(200);
      expect((await call('GET', '/v1/status')).body).toMatchObject({
        settings: { refused: expect.stringContaining(':2:1') },
      });
      const bobs = await comeAs(shared, withToken(token), 'POST', '/v1/sandboxes', { name: 'b' });
      expect(bobs.status).toBe(200);
    } finally {
      dispose();
    }
  });

  it('of the owner gets a notice about settings that wait for the next start', async () => {
    const { home, app, dispose } = serve();
    try {
      writeFileSync(join(home, 'config.yaml'), 'share: {socket: /s}\n');
      const create = (name: string) => app.request('/v1/sandboxes', { method: 'POST', body: JSON.stringify({ name }) });
      expect(decodeURIComponent((await create('a')).headers.get('carrel-notice')!)).toContain('share.socket');
      expect((await create('b')).headers.get('carrel-notice')).toBeNull();
    } finally {
      dispose();
    }
  });

  it('that stops, removes or shows something never depends on settings', () => {
    const free = routes.filter(({ id }) => /^(stop|remove|undo|discard|show|list(?!Images|Engines)|shut)/.test(id));
    expect(free.length).toBeGreaterThan(20);
    expect(free.filter(({ usesSettings }) => usesSettings)).toEqual([]);
  });
});
