/** Reports in JUnit XML that a test run wrote, at the usual places. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readBounded } from '../../../../lib/file/bounded-read.ts';
import { failedInJunit } from './test-report.ts';

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
