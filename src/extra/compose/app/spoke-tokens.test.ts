import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Fault } from '../../../model/fault.ts';
import { SpokeTokens } from './spoke-tokens.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Fakes the routes of a daemon; the text of a token is its claims. */
class FakeHub {
  readonly projects = new Set<string>();
  readonly tokens = new Set<string>();
  #made = 0;

  readonly call = async (route: string, { path, body }: { path?: { name: string }; body?: { id?: string } } = {}) => {
    if (route === 'GET /v1/projects') return [...this.projects].map((id) => ({ id }));
    if (route === 'GET /v1/hub/tokens') return [...this.tokens].map((id) => ({ id }));
    if (route === 'POST /v1/projects') return this.projects.add(refused(body!.id!));
    if (route === 'POST /v1/hub/tokens') return { token: this.#token() };
    return (route.includes('projects') ? this.projects : this.tokens).delete(path!.name);
  };

  #token(): string {
    this.#made += 1;
    this.tokens.add(`t${this.#made}`);
    return tokenOf(`t${this.#made}`, 366);
  }
}

function refused(id: string): string {
  if (id === 'bad') throw new Fault('conflict', 'taken');
  return id;
}

function tokenOf(jti: string, days: number): string {
  const claims = JSON.stringify({ jti, exp: Math.floor((Date.now() + days * dayMs) / 1000) });
  return `x.${Buffer.from(claims).toString('base64url')}.x`;
}

let folder: string;
let hub: FakeHub;
let complaints: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-tokens-'));
  for (const id of ['app', 'api', 'bad']) mkdirSync(join(folder, id));
  [hub, complaints] = [new FakeHub(), []];
});
afterEach(() => rmSync(folder, { recursive: true }));

const provide = (...ids: string[]) =>
  new SpokeTokens({ call: hub.call as never }, ids, (about) => complaints.push(about), folder).provide();
const inFile = (id: string) => {
  const [, claims] = readFileSync(join(folder, id, 'token'), 'utf8').split('.');
  return JSON.parse(Buffer.from(claims!, 'base64url').toString()).jti;
};

it('provide registers each project with a token, and keeps both at the next start', async () => {
  await provide('app', 'api');
  await provide('app', 'api');
  expect([[...hub.projects], inFile('app'), inFile('api')]).toEqual([['app', 'api'], 't1', 't2']);
  await provide('api');
  expect([...hub.projects]).toEqual(['api']);
});

it('provide does not replace a revoked token', async () => {
  await provide('app');
  hub.tokens.clear();
  await provide('app');
  expect([inFile('app'), hub.tokens.size]).toEqual(['t1', 0]);
});

it('provide replaces a token that expires soon, and a token of a hub whose home was removed', async () => {
  await provide('app');
  rmSync(join(folder, 'app/token'));
  writeFileSync(join(folder, 'app/token'), tokenOf('t1', 10));
  await provide('app');
  expect([inFile('app'), [...hub.tokens]]).toEqual(['t2', ['t2']]);
  hub = new FakeHub();
  hub.tokens.add('other');
  await provide('app');
  expect([inFile('app'), [...hub.tokens]]).toEqual(['t1', ['other', 't1']]);
});

it('the refusal of one project does not affect the others', async () => {
  await provide('bad', 'app');
  expect([complaints, inFile('app')]).toEqual([['bad'], 't1']);
});
