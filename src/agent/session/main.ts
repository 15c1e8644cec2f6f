/** `carrel-agent-api start`, with settings on stdin, and `serve`, which `start` runs in the background. */
import { asFault, consequences, Fault } from '../../model/fault.ts';
import { placesOf } from './places.ts';
import { log, serve, textOf } from './serve.ts';
import { start } from './start.ts';

const [program = '', command, argument] = process.argv.slice(1);

async function run(): Promise<void> {
  if (command === 'start') {
    const port = await start(placesOf(argument), program, await textOf(process.stdin));
    process.stdout.write(`${JSON.stringify({ port })}\n`);
  } else if (command === 'serve') {
    process.on('unhandledRejection', (error) => log(`a rejection that nothing handles: ${asFault(error).message}`));
    await serve(placesOf(argument));
  } else throw new Fault('invalid', 'usage: carrel-agent-api start | serve');
}

try {
  await run();
  process.exit(0);
} catch (error) {
  const { code, message, hint } = asFault(error);
  process.stderr.write(`carrel-agent-api: ${message}\n${hint ? `hint: ${hint}\n` : ''}`);
  process.exit(consequences[code].exit);
}
