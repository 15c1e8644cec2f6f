import { describe, expect, it, test } from 'vitest';
import { processorMs } from '../../../../../test/harness/processor-time.ts';
import { failedInJunit, failedTest, TestReport } from './test-report.ts';

describe('failed tests in output', () => {
  test.each([
    ['TAP', 'not ok 3 - adds numbers', 'adds numbers'],
    ['TAP without a dash', 'not ok 3 adds numbers', 'adds numbers'],
    ['TAP of a subtest', '    not ok 1 - inner # time=3ms', 'inner # time=3ms'],
    ['vitest', ' FAIL  src/a.test.ts > price > adds', 'src/a.test.ts > price > adds'],
    [
      'vitest in colour',
      '\u001b[41m\u001b[1m FAIL \u001b[22m\u001b[49m src/a.test.ts\u001b[2m > \u001b[22madds',
      'src/a.test.ts > adds',
    ],
    ['jest', '  ● price › adds numbers', 'price › adds numbers'],
    ['node:test', '✖ adds numbers (1.234ms)', 'adds numbers'],
    ['pytest', 'FAILED tests/test_a.py::test_add[1-2] - assert 1 == 2', 'tests/test_a.py::test_add[1-2]'],
    ['pytest, error in a fixture', 'ERROR tests/test_a.py::test_add', 'tests/test_a.py::test_add'],
    ['unittest', 'FAIL: test_add (test_a.PriceTest)', 'test_add (test_a.PriceTest)'],
    ['go test', '--- FAIL: TestAdd (0.00s)', 'TestAdd'],
    ['go test, a subtest', '    --- FAIL: TestAdd/negative (0.00s)', 'TestAdd/negative'],
    ['go test -json', '{"Time":"t","Action":"fail","Package":"shop","Test":"TestAdd"}', 'shop.TestAdd'],
    ['cargo test', 'test price::tests::adds ... FAILED', 'price::tests::adds'],
  ])('are found: %s', (_, line, name) => expect(failedTest(line)).toBe(name));

  test.each([
    ['a test that passed', 'ok 3 - adds numbers'],
    ['TAP: expected to fail', 'not ok 3 - adds # TODO later'],
    ['TAP: skipped', 'not ok 3 - adds # SKIP no network'],
    ['cargo: passed', 'test price::tests::adds ... ok'],
    ['go: a package without a test', '{"Action":"fail","Package":"shop"}'],
    ['prose', 'FAILED to connect, not ok'],
    ['broken JSON', '{"Action":"fail"'],
    ['a very long line', `not ok 1 - ${'x'.repeat(5000)}`],
  ])('are not found in: %s', (_, line) => expect(failedTest(line)).toBeNull());

  it('are searched in linear time, in hostile output, too', () => {
    const began = processorMs();
    for (const part of ['not ok 1 -', ' ', '✖ (', '● › ', 'FAILED a::', '--- FAIL: ', 'test ... ']) {
      for (let i = 0; i < 50; i++) failedTest(part.repeat(400).slice(0, 4000));
    }
    expect(processorMs() - began).toBeLessThan(2000);
  });
});

it('TestReport finds a name that arrives in pieces, each once, also in a last line without a newline', () => {
  const report = new TestReport();
  for (const piece of ['not o', 'k 1 - a\nnot ok 1 - a\nok 2\n--- FAIL: Te', 'stB (0s)']) report.push(piece);
  expect(report.names()).toEqual(['a', 'TestB']);
});

it('failedInJunit returns the failures and errors of a JUnit report', () => {
  const xml = `<testsuite><testcase classname="Price" name="adds &lt;1&gt;"><failure>no</failure></testcase>
    <testcase name="passes"/><testcase name="quiet"></testcase>
    <testcase name="broken" time="1"><error/></testcase></testsuite>`;
  expect(failedInJunit(xml)).toEqual(['Price > adds <1>', 'broken']);
});
