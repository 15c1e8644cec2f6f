import { readFileSync } from 'node:fs';

/** Root of the machine, not just of a user namespace. */
export const isRealRoot = /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'utf8'));

/** CARREL_TEST_ALL=1: also what repeats a suite where it has rarely told anything new, and costs minutes. */
export const isRepeated = process.env.CARREL_TEST_ALL === '1';
