import { expect, test } from 'vitest';
import { taskRefusal } from './task-problem.ts';
import { readTaskText, type TaskText, withStories } from './task-text.ts';

const text = `{
  "schemaVersion": "3.0",
  "metadata": {
    "title": "Login", "type": "feat",
    "branchName": "feat/login",
    "createdAt": "2026-01-31",
    "execution": "container"
  },
  "userStories": [
    {
      "status": "pending",
      "id": "US-001",
      "title": "Schema", "description": "", "acceptanceCriteria": [],
      "priority": 1.0,
      "dependsOn": []
    },
    {"id": "US-002", "title": "Form", "description": "", "acceptanceCriteria": [], "priority": 2e0, "status": "pending", "dependsOn": ["US-001"], "notes": ""}
  ]
}
`;

function read(source: string): TaskText {
  const reading = readTaskText(source);
  if ('problems' in reading) throw taskRefusal('f', reading.problems);
  return reading;
}

function problems(source: string): string {
  const reading = readTaskText(source);
  return 'problems' in reading ? taskRefusal('f.json', reading.problems).message : '';
}

test('a change affects its own lines only', () => {
  const changed = withStories(read(text), [{ id: 'US-001', status: 'in_progress' }]);
  expect(changed).toBe(text.replace('"status": "pending",\n', '"status": "in_progress",\n'));
  expect(read(changed).file.userStories[0]).toMatchObject({ id: 'US-001', status: 'in_progress', priority: 1 });
});

test('several stories and their notes are changed at once', () => {
  const changed = withStories(read(text), [
    { id: 'US-002', status: 'failed', notes: 'it "broke"\n' },
    { id: 'US-001', status: 'failed', notes: 'x' },
  ]);
  const expected = text
    .replace('"status": "pending",\n', '"status": "failed",\n')
    .replace('"dependsOn": []\n', '"dependsOn": [],\n      "notes": "x"\n')
    .replace('"status": "pending", ', '"status": "failed", ')
    .replace('"notes": ""', '"notes": "it \\"broke\\"\\n"');
  expect(changed).toBe(expected);
});

test('line ends, a byte order mark and a missing last newline stay', () => {
  const odd = `\ufeff${text.trimEnd().replaceAll('\n', '\r\n')}`;
  const changed = withStories(read(odd), [{ id: 'US-001', status: 'skipped' }]);
  expect(changed).toBe(odd.replace('"pending"', '"skipped"'));
});

test('a change of a story that does not exist is refused', () => {
  expect(() => withStories(read(text), [{ id: 'US-003', status: 'failed' }])).toThrow('there is no story US-003');
});

test.each([
  ['f.json:10: userStories[0].id: is missing', text.replace('      "id": "US-001",\n', '')],
  ['f.json:14: userStories[0].priority: must be a whole number', text.replace('1.0', '1.5')],
  ['f.json:5: metadata.branchName: must be', text.replace('feat/login', '-x')],
  ['f.json:17: userStories[1].dependsOn[0]: there is no story', text.replace('["US-001"]', '["US-009"]')],
  ['f.json:15: userStories[0].dependsOn: circular: US-001 → US-002 → US-001', text.replace('[]\n', '["US-002"]\n')],
  ['f.json:12: not JSON: "id" is there twice', text.replace('"status": "pending",\n', '"id": "US-001",\n')],
  ['f.json:18: not JSON: the text ends too early: expected "," or "}"', text.trimEnd().slice(0, -1)],
  ['f.json:1: not JSON: the text ends too early: expected a value', ''],
])('a problem has its line: %s', (expected, source) => {
  expect(problems(source)).toContain(expected);
});
