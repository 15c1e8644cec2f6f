// Part of each program that `house-walks.mjs` measures: notes again and again which functions were called, as `FILE OFFSET`,
// under the name in the file `trigger`. V8 begins a new count each time. A thread can end at any moment, so nothing waits in it.
import { appendFileSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { threadId } from 'node:worker_threads';

const folder = process.env.CARREL_WALKS;
const noteMs = 100;
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

let name = triggered();
setInterval(note, noteMs).unref();
process.on('exit', note);

function triggered() {
  return readFileSync(`${folder}/trigger`, 'utf8');
}

/** The calls since the last note belong to the name that was there then. */
function note() {
  session.post('Profiler.takePreciseCoverage', (error, answer) => {
    if (error) return;
    const called = answer.result.flatMap(({ url, functions }) => {
      const [, file] = url.split(`${folder}/package/dist/`);
      return file === undefined
        ? []
        : functions.filter(isCalled).map((one) => `${file} ${one.ranges[0].startOffset}\n`);
    });
    if (called.length > 0) appendFileSync(`${folder}/counted/${name}-${process.pid}-${threadId}`, called.join(''));
  });
  name = triggered();
}

/** The function without a name at the beginning is the module itself. */
function isCalled({ functionName, ranges: [{ startOffset, count }] }) {
  return count > 0 && !(functionName === '' && startOffset === 0);
}
