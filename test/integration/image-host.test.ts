/** The packages of a system as the parent of images: a small system of the test's own, packed by the real tar. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { run } from '../../src/lib/process/run.ts';
import { hostParent } from '../../src/noun/image/host/host.ts';

let folder: string;
let root: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-host-'));
  root = join(folder, 'root');
  put('root/var/lib/dpkg/status', [record('bash', 'Essential: yes'), record('git'), record('other')].join('\n\n'));
  const info = 'root/var/lib/dpkg/info';
  put(`${info}/format`, '1\n');
  put(
    `${info}/bash.list`,
    '/.\n/bin\n/bin/bash\n/etc\n/etc/bash.bashrc\n/usr/share/doc/bash/README\n/usr/bin\n/usr/bin/gone\n',
  );
  put(`${info}/git:amd64.list`, '/.\n/var/lib/dpkg\n/usr/bin/git\n/usr/lib/odd name\n');
  put(`${info}/git:amd64.postinst`, '#!/bin/sh\n');
  put(`${info}/other.list`, '/usr/bin/other\n');
  for (const path of ['usr/bin/bash', 'usr/bin/git', 'usr/bin/other', 'usr/lib/odd name', 'usr/share/doc/bash/README'])
    put(`root/${path}`, path);
  for (const path of ['etc/bash.bashrc', 'etc/shadow', 'etc/ssl/private/key', 'home/ann/secret', 'usr/local/bin/own'])
    put(`root/${path}`, 'private');
  put('root/etc/ssl/certs/ca-certificates.crt', 'public');
  mkdirSync(join(root, 'usr/sbin'));
  symlinkSync('usr/bin', join(root, 'bin'));
  mkdirSync(join(root, 'etc/alternatives'));
  for (const [name, target] of [
    ['sh', 'bash'],
    ['vi', 'other'],
  ] as const) {
    symlinkSync(`/usr/bin/${target}`, join(root, 'etc/alternatives', name));
    symlinkSync(`/etc/alternatives/${name}`, join(root, 'usr/bin', name));
  }
  for (const path of ['bin/node', 'lib/node_modules/npm/index.js', 'lib/node_modules/other/x'])
    put(`node/${path}`, path);
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function record(name: string, more = 'Section: x', version = '1'): string {
  return `Package: ${name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: ${version}\n${more}`;
}

async function unpacked(): Promise<string[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of hostParent(root, join(folder, 'node')).archive()) chunks.push(chunk);
  const archive = join(folder, 'archive.tar');
  writeFileSync(archive, Buffer.concat(chunks));
  return (await run(['tar', '--list', '--file', archive])).stdout.trim().split('\n').sort();
}

it('the archive holds the packages that a base needs, and only public files of the rest', async () => {
  expect(await unpacked()).toEqual(
    [
      ...['bin', 'usr/bin', 'usr/bin/bash', 'usr/bin/git', 'usr/bin/sh', 'usr/lib/odd name'].map((path) =>
        path === 'usr/bin' ? 'usr/bin/' : path,
      ),
      ...['usr/local/bin/', 'usr/local/lib/', 'usr/local/sbin/', 'usr/local/share/'],
      ...['var/lib/dpkg/info/bash.list', 'var/lib/dpkg/info/format', 'var/lib/dpkg/info/git:amd64.list'],
      ...[
        'var/lib/dpkg/info/git:amd64.postinst',
        'var/lib/dpkg/status',
        'etc/passwd',
        'etc/group',
        'etc/nsswitch.conf',
      ],
      ...['etc/', 'var/', 'var/lib/', 'var/lib/dpkg/', 'var/lib/dpkg/info/'],
      ...['etc/alternatives/', 'etc/alternatives/sh', 'etc/alternatives/vi'],
      ...['etc/ssl/certs/', 'etc/ssl/certs/ca-certificates.crt'],
      ...['usr/local/bin/node', 'usr/local/lib/node_modules/npm/', 'usr/local/lib/node_modules/npm/index.js'],
    ].sort(),
  );
});

it('the archive has another checksum when a package changes, and needs a Debian system', () => {
  const before = hostParent(root).checksum;
  put('root/var/lib/dpkg/status', [record('bash', 'Essential: yes', '2'), record('git')].join('\n\n'));
  expect(hostParent(root).checksum).not.toBe(before);
  expect(() => hostParent(folder)).toThrow('Debian');
});
