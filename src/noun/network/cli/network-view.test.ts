import { expect, test } from 'vitest';
import { Output } from '../../../client/output/output.ts';
import { parsePorts } from '../model/published.ts';
import { portListing } from './commands.ts';
import { explanation } from './explain.ts';
import { listing, type NetworkLogLine } from './log.ts';

const out = new Output(false, { write: () => {} }, { write: () => {} }, {});

const allowed: NetworkLogLine = {
  ...{ at: '2026-01-01T00:00:00.000Z', attempt: '1', via: 'connect', asked: 'a.example:443', decision: 'allow' },
  ...{ rule: '*.example', reason: null },
};
const ended: NetworkLogLine = {
  ...{
    at: '2026-01-01T00:00:02.000Z',
    attempt: '1',
    sentBytes: 10,
    receivedBytes: 2048,
    durationMs: 2000,
    reason: null,
  },
};

test('the log has one row for each attempt, with its decision and its end', () => {
  const refused: NetworkLogLine = {
    ...allowed,
    attempt: '2',
    decision: 'refuse',
    rule: null,
    asked: '',
    reason: 'no rule',
  };
  const open: NetworkLogLine = { ...allowed, attempt: '3' };
  const lost: NetworkLogLine = { ...ended, attempt: '0' };
  const [head, ...rows] = listing([lost, allowed, refused, ended, open], out);
  expect(head).toMatch(/^TIME +DECISION +HOST +VIA +RULE +SENT +RECEIVED +TOOK +WHY$/);
  expect(rows).toHaveLength(3);
  expect(rows[0]).toMatch(/00:00:00.000Z +allow +a.example:443 +connect +\*.example +10B +2.0K +2000ms$/);
  expect(rows[1]).toMatch(/refuse +- +connect +- .* no rule$/);
  expect(rows[2]).toMatch(/allow .* - +- +-$/);
});

test('control characters from a sandbox do not reach the terminal', () => {
  const evil = 'a\u001b[2J\n\u202e\r';
  const text = listing([{ ...allowed, asked: evil, rule: evil, via: evil, reason: evil }], out).join('\n');
  expect(text.split('\n')).toHaveLength(2);
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});

test('the log prints no table without attempts', () => {
  expect(listing([], out)).toEqual([]);
});

test('an explanation has the reason, and a hint if a rule can help', () => {
  const view = {
    asked: 'a.example:443',
    allowed: false,
    rule: null,
    refusal: 'not_allowed',
    reason: 'no rule',
    addresses: [],
  };
  expect(explanation(view, 'box', out)).toEqual([
    'a.example:443 is refused: no rule',
    '  hint: carrel net allow box a.example:443',
  ]);
  expect(explanation({ ...view, refusal: 'private' }, 'box', out)).toEqual(['a.example:443 is refused: no rule']);
  const good = {
    ...view,
    allowed: true,
    reason: 'allowed by the rule x',
    refusal: null,
    addresses: ['192.0.2.1', '::1'],
  };
  expect(explanation(good, 'box', out)).toEqual([
    'a.example:443 is allowed by the rule x',
    '  dialled at 192.0.2.1, ::1',
  ]);
});

test('ports are listed, and PORT or PORT:HOSTPORT is parsed', () => {
  const port = { sandbox: 'web', port: 3000, hostPort: 3001, hostAddress: '::1', state: 'running' } as const;
  expect(portListing([port], out)).toEqual([
    'SANDBOX  INSIDE  HERE        STATE',
    'web      3000    [::1]:3001  running',
  ]);
  expect(parsePorts('80')).toEqual({ port: 80 });
  expect(parsePorts('80:8080')).toEqual({ port: 80, hostPort: 8080 });
  for (const text of ['', '0', '65536', '80:', ':80', '80:0', '80:1:2', '-1', '8e1', ' 80'])
    expect(() => parsePorts(text)).toThrow('is not a port');
});
