import { expect, it } from 'vitest';
import type { Fault } from '../../../model/fault.ts';
import { presetOfKey } from '../../network/model/credential.ts';
import { keyOf, requireProgramAndKey } from './readiness.ts';

function needs(...secrets: string[]) {
  return {
    hasSecret: (name: string) => secrets.includes(name),
    credentialsFor: () => [],
    addCredential: (preset: string) => preset,
    hasProgram: () => true,
    installedVersion: () => null,
  };
}

function hintFor(agent: string, hasLogin?: boolean): string {
  try {
    requireProgramAndKey({ agent, ...(hasLogin === undefined ? {} : { hasLogin }) }, {}, needs());
  } catch (error) {
    return (error as Fault).hint!;
  }
  throw new Error('nothing is missing');
}

it('a login is offered only if the client found one', () => {
  for (const agent of ['claude', 'codex', 'gemini']) {
    const offer = `or use your login:    carrel agent login ${agent}`;
    expect(hintFor(agent, true)).toMatch(new RegExp(`^enter its key: +carrel secret set [A-Z_]+\n${offer}$`));
    for (const hasLogin of [false, undefined])
      expect(hintFor(agent, hasLogin)).toMatch(/^enter its key: +carrel secret set [A-Z_]+$/);
  }
});

it.each([
  ['claude', 'ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN'],
  ['codex', 'OPENAI_API_KEY', 'CHATGPT_ACCESS_TOKEN'],
  ['gemini', 'GEMINI_API_KEY', 'GEMINI_ACCESS_TOKEN'],
])('%s gets its login as a credential if it has no key', (agent, key, token) => {
  expect(keyOf(agent, needs())).toBeNull();
  expect(keyOf(agent, needs(token))).toBe(`secret ${token}`);
  expect(requireProgramAndKey({ agent }, {}, needs(token)).grants).toEqual({ credentials: [presetOfKey(token)] });
  expect(keyOf(agent, needs(key, token))).toBe(`secret ${key}`);
  expect(requireProgramAndKey({ agent }, {}, needs(key, token)).grants).toEqual({ credentials: [presetOfKey(key)] });
});

it('an agent of several services gets no login of another agent', () => {
  expect(keyOf('opencode', needs('CHATGPT_ACCESS_TOKEN'))).toBeNull();
  expect(keyOf('qwen', needs('CHATGPT_ACCESS_TOKEN'))).toBeNull();
});
