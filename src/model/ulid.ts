/**
 * ULIDs: 26 characters of Crockford's base 32 that sort by bytes, 10 of time and 16 random ones. Ids of one series only
 * grow, also when the clock stands still or jumps back: then the last id is counted up.
 */
const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const timeLength = 10;
const randomLength = 16;

export const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Numbers from 0 to 31, as many as asked for. */
export type RandomDigits = (count: number) => readonly number[];

/** An id that is greater than `previous`; null: there is none. */
export function ulidAfter(previous: string | null, nowMs: number, random: RandomDigits = randomDigits): string {
  const time = timeText(nowMs);
  if (previous === null || time > previous.slice(0, timeLength)) return time + randomText(random);
  return countedUp(previous);
}

/** Milliseconds since 1970. */
export function ulidTime(id: string): number {
  return [...id.slice(0, timeLength)].reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0);
}

function timeText(ms: number): string {
  let text = '';
  for (let rest = Math.max(0, Math.floor(ms)); text.length < timeLength; rest = Math.floor(rest / 32)) {
    text = digits[rest % 32] + text;
  }
  return text;
}

/** The first random digit is below 16, so that counting up does not soon reach the time. */
function randomText(random: RandomDigits): string {
  return random(randomLength)
    .map((digit, index) => digits[index === 0 ? digit % 16 : digit % 32])
    .join('');
}

function countedUp(id: string): string {
  const last = id.search(/Z*$/);
  const carried = digits[digits.indexOf(id[last - 1]!) + 1];
  return id.slice(0, last - 1) + carried + '0'.repeat(id.length - last);
}

function randomDigits(count: number): readonly number[] {
  return [...crypto.getRandomValues(new Uint8Array(count))].map((byte) => byte % 32);
}
