import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hubService } from '../../noun/hub/model/service.ts';
import { readConfig } from './config.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = (text: string) => {
  writeFileSync(join(folder, 'config.yaml'), text);
  return readConfig(join(folder, 'config.yaml'));
};
const MiB = 1024 ** 2;

it('five files of ten megabytes and a hundred thousand events are kept by default', () => {
  const ten = { maxBytes: 10 * MiB, files: 5 };
  expect(readConfig(join(folder, 'nowhere'))).toMatchObject({ log: ten, audit: ten, maxEvents: 100_000 });
  expect(read('logs: {size: 1m}\naudit: {files: 50}\nevents: {keep: 5000}\n')).toMatchObject({
    log: { maxBytes: MiB, files: 5 },
    audit: { maxBytes: 10 * MiB, files: 50 },
    maxEvents: 5000,
  });
});

it('disk.keepFree is a size, and null by default', () => {
  const texts = ['', 'disk: {keepFree: 2g}', 'disk: {keepFree: 0}', 'disk: {keepFree: "0"}'];
  expect(texts.map((text) => read(text).keepFreeBytes)).toEqual([null, 2048 * MiB, 0, 0]);
  expect(() => read('disk: {keepFree: lots}')).toThrow('disk.keepFree: "lots" is not a size');
  expect(() => read('disk: {keepFree: -1}')).toThrow('disk.keepFree');
});

it('config.yaml sets the prefix of the names of volumes', () => {
  expect([read('').volumePrefix, read('volumes: {prefix: lab}').volumePrefix]).toEqual(['carrel', 'lab']);
});

it('the services are those in config.yaml, and the hub unless the owner declares another service of that name', () => {
  const text = 'services: {a: {port: 17010, to: /a.sock}, b: {port: 17011, to: "[::1]:80", identity: line}}';
  expect(read(text).services).toEqual([
    { name: 'a', port: 17010, to: '/a.sock', identity: 'headers' },
    { name: 'b', port: 17011, to: '[::1]:80', identity: 'line' },
    hubService,
  ]);
  const own = { port: 17010, to: '/a.sock', identity: 'headers' };
  expect(read(`services: {hub: ${JSON.stringify(own)}}`).services).toEqual([{ name: 'hub', ...own }]);
});

it.each([
  ['services: {a: {port: 17000, to: /a}}', 'services.a.port'],
  ['services: {a: {port: 17010, to: example.com:80}}', 'services.a.to: "example.com:80" is no such place'],
  ['services: {a: {port: 17010, to: 10.0.0.1:80}}', 'services.a.to: "10.0.0.1:80" is no such place'],
  ['services: {a: {port: 17010, to: 127.0.0.1}}', 'is no such place'],
  ['services: {a: {port: 17010, to: /a}, b: {port: 17010, to: /b}}', 'services.a.port: b has port 17010 already'],
  ['services: {hub: {port: 17010, to: /a, token: x}}', '"token" is not known here'],
  ['hub: {port: 3000, address: 127.0.0.1}', 'hub: port is not known here: the port is set by http: {port: …}'],
  ['hub: {prot: 3000}', 'hub: "prot" is not known here'],
  ['logs: {size: 1k}', 'logs.size: 1.0K is out of range'],
  ['audit: {size: lots}', 'audit.size: "lots" is not a size'],
  ['logs: {files: 0}', 'logs.files'],
  ['audit: {days: 7}', 'audit'],
  ['events: {keep: 10}', 'events.keep'],
  ['event: {keep: 10000}', 'event'],
  ['volumes: {prefix: ../x}', '"../x" cannot be the prefix of volumes'],
])('%s is refused with the field and the reason', (text, message) => {
  expect(() => read(text)).toThrow(message);
});
