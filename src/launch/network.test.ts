import { expect, it } from 'vitest';
import { sampleSpec } from '../../test/fixtures/sandbox.ts';
import { noNetwork } from '../model/network.ts';
import { commandOf } from './network.ts';

const spec = { ...sampleSpec, engine: 'docker', command: ['true'] } as const;
const services = [
  { name: 'notes', port: 17_011 },
  { name: 'log', port: 17_010 },
];
const network = { ...noNetwork, allow: ['example.com'] };

it.each([
  ['a network', { network }, "'4268 0A'"],
  ['services alone, for the one that is opened last', { services }, "'4272 0A'"],
  ['both, for the proxy, which is opened after them', { network, services }, "'4268 0A'"],
])('a command on docker waits where there is %s', (_, more, listed) => {
  const [shell, flag, line, ...rest] = commandOf({ ...spec, ...more });
  expect([shell, flag, ...rest]).toEqual(['/bin/sh', '-c', 'sh', 'true']);
  expect(line).toContain(listed);
});

it.each([
  ['without either', {}],
  ['on an engine that has its network first', { engine: 'local', network, services } as const],
])('a command is as it was %s', (_, more) => {
  expect(commandOf({ ...spec, ...more })).toEqual(['true']);
});
