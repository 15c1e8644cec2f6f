import { expect, it } from 'vitest';
import { Fault } from '../../../model/fault.ts';
import { toolGroups } from '../model/token.ts';
import { challengeOf, metadata, missingScope, presentedToken } from './resource-server.ts';
import { refused } from './token.ts';

const origin = 'http://127.0.0.1:3000';
const place = 'resource_metadata="http://127.0.0.1:3000/.well-known/oauth-protected-resource/mcp"';

function missing(): Fault {
  try {
    presentedToken({ authorization: undefined, url: '/mcp' });
  } catch (error) {
    return error as Fault;
  }
  throw new Error('not refused');
}

it('a challenge names the metadata, and the error if a token was sent', () => {
  expect(challengeOf(missing(), origin)).toBe(`Bearer scope="files code run", ${place}`);
  expect(challengeOf(refused('it has expired'), origin)).toBe(
    `Bearer error="invalid_token", scope="files code run", ${place}`,
  );
  expect(challengeOf(missingScope('swarm', 'swarm_run', ['files']), origin)).toBe(
    `Bearer error="insufficient_scope", scope="files swarm", ${place}`,
  );
  expect(challengeOf(new Fault('denied', 'another host'), origin)).toBeNull();
});

it('metadata name the resource, at both paths of RFC 9728', () => {
  const root = '/.well-known/oauth-protected-resource';
  expect(metadata(root, origin)).toEqual({
    resource: 'http://127.0.0.1:3000/mcp',
    resource_name: 'Carrel hub',
    scopes_supported: toolGroups,
    bearer_methods_supported: ['header'],
  });
  expect(metadata(`${root}/mcp`, origin)).toEqual(metadata(root, origin));
  expect(metadata('/mcp', origin)).toBeNull();
});
