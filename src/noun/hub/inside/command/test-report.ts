/**
 * The names of failed tests, in the output of common test programs and in their reports in JUnit XML. Neither is trusted: every
 * pattern is anchored and linear.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readBounded } from '../../../../lib/file/bounded-read.ts';

const maxNames = 200;
const maxNameLength = 300;
const maxLineLength = 4000;
const escapes = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** Patterns of failed tests. The first group is the name of the test. */
const patterns: readonly RegExp[] = [
  // TAP, also indented; without tests that are expected to fail.
  /^ *not ok \d+ -? ?((?:(?!# ?(?:TODO|SKIP)).)+)$/i,
  // vitest: FAIL file > suite > test
  /^ ?FAIL {1,2}(\S.* > .*)$/,
  // jest: ● suite › test
  /^ {2}● (.* › .*)$/,
  // node:test
  /^ *✖ (.+) \(\d[\d.]*ms\)$/,
  // pytest
  /^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$/,
  // unittest
  /^(?:FAIL|ERROR): (\w+ \([\w.]+\))/,
  // go test
  /^ *--- FAIL: (\S+) \(/,
  // cargo test
  /^test (.+) \.\.\. FAILED$/,
];

export function failedTest(line: string): string | null {
  if (line.length > maxLineLength) return null;
  const plain = line.replaceAll(escapes, '').trimEnd();
  for (const pattern of patterns) {
    const name = plain.match(pattern)?.[1]?.trim();
    if (name) return name.slice(0, maxNameLength);
  }
  return goEvent(plain);
}

/** A line of `go test -json`. */
function goEvent(line: string): string | null {
  if (!line.startsWith('{"') || !line.includes('"Action":"fail"')) return null;
  try {
    const { Package, Test } = JSON.parse(line) as { Package?: unknown; Test?: unknown };
    return typeof Test === 'string' ? `${String(Package)}.${Test}`.slice(0, maxNameLength) : null;
  } catch {
    return null;
  }
}

/** The usual places of reports. */
const folders = ['', 'reports', 'test-results', 'test-reports', 'target/surefire-reports', 'build/test-results/test'];
const reportName = /^(?:junit|test-results|TEST-.+|.*junit.*)\.xml$/;
const maxReports = 200;
const maxReportBytes = 4 * 1024 * 1024;

/** Failed tests in reports that were written since `sinceMs`. */
export function failedInReports(folder: string, sinceMs: number): string[] {
  const paths = folders.flatMap((name) => reportsIn(join(folder, name))).slice(0, maxReports);
  return paths.flatMap((path) => failuresIn(path, sinceMs));
}

function reportsIn(folder: string): string[] {
  try {
    return readdirSync(folder).flatMap((name) => (reportName.test(name) ? join(folder, name) : []));
  } catch {
    return [];
  }
}

/** A report that cannot be read has no failed tests, ignoring. */
function failuresIn(path: string, sinceMs: number): string[] {
  try {
    if (lstatSync(path).mtimeMs < sinceMs) return [];
    return failedInJunit(readBounded(path, maxReportBytes)?.bytes.toString('utf8') ?? '');
  } catch {
    return [];
  }
}

/** The failed tests of a report in JUnit XML. */
export function failedInJunit(xml: string): string[] {
  return xml
    .split(/<testcase\b/)
    .slice(1)
    .flatMap((part) => {
      const end = part.indexOf('>');
      const tag = part.slice(0, Math.min(end, maxLineLength));
      const body = part.slice(end + 1, part.indexOf('</testcase>'));
      if (end < 0 || tag.endsWith('/') || !/<(?:failure|error)\b/.test(body)) return [];
      const [name, suite] = [attribute(tag, 'name'), attribute(tag, 'classname')];
      return name === null ? [] : (suite ? `${suite} > ${name}` : name).slice(0, maxNameLength);
    });
}

function attribute(tag: string, name: string): string | null {
  const found = tag.match(new RegExp(`\\s${name}="([^"]*)"`))?.[1];
  if (found === undefined) return null;
  const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
  return found.replaceAll(/&(lt|gt|quot|apos|amp);/g, (_, entity: string) => entities[entity]!);
}

/** Collects names from output as it comes. */
export class TestReport {
  readonly #names = new Set<string>();
  #rest = '';

  push(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = lines.pop()!.slice(0, maxLineLength + 1);
    for (const line of lines) this.add(failedTest(line));
  }

  add(name: string | null): void {
    if (name !== null && this.#names.size < maxNames) this.#names.add(name);
  }

  names(): string[] {
    this.add(failedTest(this.#rest));
    return [...this.#names];
  }
}
