import { expect, it } from 'vitest';
import { Screen } from '../../noun/sandbox/cli/stream/screen/screen.ts';
import { TerminalReset } from './terminal-reset.ts';

/** The lines on the terminal after the reset and the next prompt of the shell. */
function after(...chunks: string[]): string[] {
  const [reset, screen] = [new TerminalReset(), new Screen(4, 20)];
  for (const chunk of ['$ carrel claude\r\n', ...chunks]) {
    reset.see(Buffer.from(chunk));
    screen.push(Buffer.from(chunk));
  }
  screen.push(Buffer.from(`${reset.text()}$ `));
  return screen.lines.map((line) => line.trimEnd());
}

it('the reset leaves the alternate screen, also if its sequence came in two pieces', () => {
  expect(after('\x1b[?2004h\x1b[?10', '49h\x1b[2;2Hagent')).toEqual(['$ carrel claude', '$', '', '']);
});

it('the reset goes below what a program drew on the main screen', () => {
  expect(after('agent\r\n> \x1b[1;1H')).toEqual(['agent', '>', '', '$']);
  expect(after('\x1b[?1049hgone\x1b[?1049l', 'back\r\n')).toEqual(['back', '', '', '$']);
});

it('the reset switches mouse, paste and key modes off, and the cursor on', () => {
  const text = new TerminalReset().text();
  for (const part of ['\x1b[?1000l', '\x1b[?1006l', '\x1b[?2004l', '\x1b[<9u', '\x1b[?25h'])
    expect(text).toContain(part);
});

it('a reset is needed after a killed program left a mode set, not after a program that cleaned up', () => {
  const isNeededAfter = (...chunks: string[]) => {
    const reset = new TerminalReset();
    for (const chunk of chunks) reset.see(Buffer.from(chunk));
    return reset.isNeeded;
  };
  for (const left of ['\x1b[?1049h', '\x1b[?1002;1006h', '\x1b[?2004h', '\x1b[?25l', '\x1b[>1u'])
    expect(isNeededAfter('agent', left)).toBe(true);
  expect(isNeededAfter('\x1b[?25l\x1b[?2004h\x1b[>1u', 'agent', '\x1b[?2004', 'l\x1b[<u\x1b[?25h')).toBe(false);
});
