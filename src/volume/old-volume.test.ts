import { expect, it } from 'vitest';
import { parseOldName } from './old-volume.ts';

it.each([
  ['carrel-home', { type: 'home', hash: null, into: '' }],
  ['carrel-memory-bank', { type: 'memory-bank', hash: null, into: '' }],
  ['hal9000-claude-home-a1b2c3d4', { type: 'home', hash: 'a1b2c3d4', into: '.claude' }],
  ['hal9000-claude-session-a1b2c3d4', { type: 'session', hash: 'a1b2c3d4', into: '' }],
  ['hal9000-memory-bank', { type: 'memory-bank', hash: null, into: '' }],
  ['hal9000-tmux-sockets-a1b2c3d4', { type: 'tmux-sockets', hash: 'a1b2c3d4', into: '' }],
  ['hal9000-coordinator-state-00000000', { type: 'coordinator-state', hash: '00000000', into: '' }],
  ['hal9000-chromadb', { type: 'chromadb', hash: null, into: '' }],
  ['hal9000-base-plugins', { type: 'base-plugins', hash: null, into: '' }],
])('%s is an old volume', (name, parsed) => {
  expect(parseOldName(name, 'carrel')).toEqual(parsed);
});

it.each([
  'carrel-home-a1b2c3d4',
  'carrel-base-plugins',
  'carrel-chromadb',
  'hal9000-claude-my-worker',
  'hal9000-chromadb-a1b2c3d4',
  'hal9000-claude-home-A1B2C3D4',
  'hal9000-constructor',
  'hal9000-',
  'other-home',
])('%s is none', (name) => {
  expect(parseOldName(name, 'carrel')).toBeNull();
});

it('finds those of another prefix', () => {
  expect(parseOldName('carrel-home-a1b2c3d4', 'lab')).toEqual({ type: 'home', hash: 'a1b2c3d4', into: '' });
  expect(parseOldName('carrel-chromadb', 'lab')).toEqual({ type: 'chromadb', hash: null, into: '' });
  expect(parseOldName('lab-home-a1b2c3d4', 'lab')).toBeNull();
  expect(parseOldName('hal9000-home-a1b2c3d4', 'hal9000')).toBeNull();
});
