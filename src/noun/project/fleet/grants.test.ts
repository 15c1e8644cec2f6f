import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { grantsOf } from './grants.ts';

const place = (folder: string) => ({
  folder,
  outsideTarget: (path: string) => (resolve(folder, path).startsWith(folder) ? null : resolve(folder, path)),
});

describe('grants of a carrel.yaml', () => {
  test('name hosts, folders, secrets, volumes, rooms, watchers, credentials and services', () => {
    const content = {
      network: ['Registry.npmjs.org'],
      projects: { app: 'app', other: '../other', far: '/srv/far' },
      secrets: ['KEY'],
      rooms: {
        news: null,
        team: {
          watch: {
            one: { wake: 'claude' },
            log: { run: ['logger', '-t', 'team'], all: true },
            out: { webhook: 'https://example.org/in', secret: 'KEY' },
          },
        },
      },
      sandboxes: {
        one: { project: 'app', mode: 'bind' as const, secrets: ['KEY'], volumes: ['memory-bank:/data:ro'] },
        two: { network: ['a.example:8443'], credentials: ['claude'], services: ['notes'], rooms: ['team', 'news:ro'] },
        three: null,
      },
    };
    expect(grantsOf(content, place('/home/ann/all'))).toEqual([
      'network registry.npmjs.org',
      'folder /home/ann/other',
      'folder /srv/far',
      'room team: one: wake ["claude","-p","--permission-mode","bypassPermissions"]',
      'room team: log, all messages: run ["logger","-t","team"]',
      'room team: out: webhook https://example.org/in signed with KEY',
      'one: secret KEY',
      'one: volume memory-bank:/data:ro',
      'one: writes /home/ann/all/app',
      'two: network a.example:8443',
      'two: credential claude',
      'two: service notes',
      'two: room team',
      'two: room news:ro',
    ]);
  });

  test('are empty for commands, variables, limits and folders inside', () => {
    const content = {
      network: 'none' as const,
      projects: { here: '.', app: 'app' },
      sandboxes: { one: { project: 'app', command: ['npm', 'test'], env: { A: 'b' }, limits: { cpus: 1 } } },
    };
    expect(grantsOf(content, place('/home/ann/all'))).toEqual([]);
  });

  test('name the target of a symlink', () => {
    const content = { projects: { a: 'link' }, sandboxes: { one: { project: 'a', mode: 'bind' as const } } };
    const links = { folder: '/home/ann/all', outsideTarget: () => '/home/ann/.ssh' };
    expect(grantsOf(content, links)).toEqual(['folder /home/ann/.ssh', 'one: writes /home/ann/.ssh']);
  });

  test('keep the text of an invalid rule', () => {
    expect(grantsOf({ network: ['https://a.example'] }, place('/x'))).toEqual(['network https://a.example']);
  });
});
