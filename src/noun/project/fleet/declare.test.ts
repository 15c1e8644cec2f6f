import { describe, expect, it } from 'vitest';
import { Fault } from '../../../model/fault.ts';
import { declare } from './declare.ts';
import type { Problem } from './fleet.ts';

function refused(content: unknown): string[] {
  try {
    declare(content, '/work');
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    expect(error.code).toBe('invalid');
    return (error.data!.problems as Problem[]).map(({ place, message }) => `${place.join('.')}: ${message}`);
  }
  throw new Error('it was taken');
}

const watched = (watch: object) => ({ name: 'shop', rooms: { team: { watch: { w: watch } } } });
const one = (sandbox: object, top: object = {}) => ({
  name: 'shop',
  projects: { app: 'app' },
  ...top,
  sandboxes: { a: sandbox },
});

describe('a declaration', () => {
  it('needs only a name', () => {
    expect(declare({ name: 'shop' }, '/work')).toEqual({
      name: 'shop',
      projects: {},
      volumes: [],
      secrets: [],
      rooms: [],
      watches: [],
      sandboxes: [],
    });
  });

  it('gets its defaults, and a field of a sandbox overrides them', () => {
    const content = {
      name: 'shop',
      engine: 'docker',
      image: 'debian:12',
      limits: { cpus: 1, memory: '1g' },
      network: 'none',
      projects: { app: './app', far: '/srv/far' },
      volumes: ['memory-bank'],
      secrets: ['KEY'],
      sandboxes: {
        plain: null,
        own: {
          project: 'app',
          engine: 'local',
          limits: { memory: '512m' },
          secrets: ['KEY', 'KEY'],
          volumes: ['memory-bank:/data/memory-bank:ro'],
          command: ['npm', 'test'],
          network: ['Example.COM', 'example.com:443'],
          credentials: ['claude'],
          services: ['notes', 'notes'],
          env: { A: '1' },
        },
      },
    };
    const { projects, sandboxes } = declare(content, '/work');
    expect(projects).toEqual({ app: '/work/app', far: '/srv/far' });
    expect(sandboxes[0]).toMatchObject({
      name: 'plain',
      network: 'none',
      engine: 'docker',
      image: 'debian:12',
      mode: 'none',
      project: null,
      limits: { cpus: 1, memoryBytes: 1024 ** 3 },
    });
    expect(sandboxes[1]).toMatchObject({
      engine: 'local',
      image: null,
      network: ['example.com', 'example.com:443'],
      credentials: ['claude'],
      services: ['notes'],
      mode: 'overlay',
      project: { id: 'app', path: '/work/app' },
      limits: { cpus: 1, memoryBytes: 512 * 1024 ** 2 },
      secrets: ['KEY'],
      volumes: [{ volume: 'memory-bank', target: '/data/memory-bank', readonly: true }],
    });
  });
});

describe('a wrong declaration is refused with the path of the field', () => {
  it.each([
    [null, ': the file is empty'],
    ['text', ': expected object, received string'],
    [{}, 'name: expected string, received undefined'],
    [{ name: 'Shop' }, 'name: use 1 to 63 of a-z, 0-9, "_" and "-", starting with a letter or digit'],
    [{ name: 'a', sandbox: {} }, 'sandbox: there is no such field'],
    [{ name: 'a', sandboxes: { 'A b': {} } }, 'sandboxes.A b: "A b" is not a name'],
    [{ name: 'a', sandboxes: [] }, 'sandboxes: expected record, received array'],
    [{ name: 'a', projects: { x: '~/app' } }, 'projects.x: ~ has no meaning here'],
    [{ name: 'a', projects: { x: 'a\nb' } }, 'projects.x: one line without control characters'],
    [
      { name: 'a', secrets: ['a/b'] },
      'secrets.0: use 1 to 64 of letters, digits, "_", "." and "-", starting with a letter or digit',
    ],
    [{ name: 'a', secrets: { KEY: 'value' } }, 'secrets: expected array, received object'],
    [{ name: 'a', network: 'all' }, 'network: `none`, or a list of HOST or HOST:PORT'],
    [
      { name: 'a', network: ['ok.example.com', 'https://example.com/'], sandboxes: { a: {}, b: {} } },
      'network.1: "https://example.com/" is a URL',
    ],
    [one({ network: ['*'] }), 'sandboxes.a.network.0: "*" would be for too many hosts'],
    [one({ credentials: ['A B'] }), 'sandboxes.a.credentials.0: "A B" is not a name for a credential'],
    [one({ privileged: true }), 'sandboxes.a.privileged: there is no such field'],
    [one({ project: 'nope' }), 'sandboxes.a.project: there is no project nope'],
    [one({ mode: 'bind' }), 'sandboxes.a.mode: mode bind needs a project'],
    [
      one({ project: 'app', mode: 'clone', base: 'frozen' }),
      'sandboxes.a.base: only mode overlay has a base, and this is mode clone',
    ],
    [one({ command: 'npm test' }), 'sandboxes.a.command: expected array, received string'],
    [one({ command: ['sleep', 5] }), 'sandboxes.a.command.1: expected string, received number'],
    [one({ command: ['a\0'] }), 'sandboxes.a.command.0: it cannot hold a NUL byte'],
    [one({ env: { PORT: 3000 } }), 'sandboxes.a.env.PORT: expected string, received number'],
    [one({ env: { '1A': '' } }), 'sandboxes.a.env.1A: "1A" is not a name'],
    [one({ secrets: ['KEY'] }), 'sandboxes.a.secrets.0: KEY is not declared'],
    [one({ volumes: ['session:/s'] }), 'sandboxes.a.volumes.0: "session" is not declared'],
    [one({ rooms: ['team:rw'] }), 'sandboxes.a.rooms.0: "team:rw" does not name a room'],
    [{ name: 'a', rooms: { Team: {} } }, 'rooms.Team: "Team" is not a name'],
    [{ name: 'a', rooms: { team: { watch: { all: { run: ['x'] } } } } }, 'rooms.team.watch.all: "all" is not a name'],
    [watched({}), 'rooms.team.watch.w: name one of wake, run and webhook'],
    [watched({ wake: 'claude', run: ['x'] }), 'rooms.team.watch.w: name one of wake, run and webhook'],
    [watched({ wake: 'clude' }), 'rooms.team.watch.w.wake: claude, codex, or a command as a list'],
    [
      watched({ webhook: 'example.org' }),
      'rooms.team.watch.w.webhook: use an address that begins with http:// or https://',
    ],
    [
      watched({ run: ['x'], secret: 'K' }),
      'rooms.team.watch.w.secret: a secret signs what a webhook gets, and there is no webhook',
    ],
    [watched({ webhook: 'https://a.example', secret: 'K' }), 'rooms.team.watch.w.secret: K is not declared'],
    [one({ volumes: ['session'] }), 'sandboxes.a.volumes.0: "session" does not say which volume goes where'],
    [
      one({ volumes: ['session:/s', 'memory-bank:/s'] }, { volumes: ['session', 'memory-bank'] }),
      'sandboxes.a.volumes.1: two volumes cannot both be at "/s"',
    ],
    [
      one({ limits: { memory: 'lots' } }),
      'sandboxes.a.limits.memory: a number of bytes, or one with a unit, such as 512m or 4g',
    ],
    [one({ limits: { ram: '4g' } }), 'sandboxes.a.limits.ram: there is no such field'],
  ])('%j', (content, expected) => {
    expect(refused(content)).toEqual([expected]);
  });

  it('one fault has all problems, with their hints', () => {
    const content = one({ comand: ['x'], limits: { cpus: -1 } }, { nmae: 'x' });
    expect(refused(content)).toHaveLength(3);
    const hint = expect.stringContaining('Fields of sandboxes.a: project, mode,');
    expect(() => declare(content, '/work')).toThrow(expect.objectContaining({ hint }));
  });

  it('more than 500 sandboxes', () => {
    const many = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`s${index}`, {}]));
    expect(refused({ name: 'a', sandboxes: many })).toEqual(['sandboxes: at most 500']);
  });
});
