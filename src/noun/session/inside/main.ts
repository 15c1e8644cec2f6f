/** `carrel-agent-api start`, with settings on stdin, and `serve`, which `start` runs in the background. */
import { asFault, Fault, faultTable } from '../../../model/fault.ts';
import { apiPathsOf } from './serve/api-paths.ts';
import { log, serve, textOf } from './serve/serve.ts';
import { start } from './serve/start.ts';

const [program = '', command, argument] = process.argv.slice(1);

async function run(): Promise<void> {
  if (command === 'start') {
    const port = await start(apiPathsOf(argument), program, await textOf(process.stdin));
    process.stdout.write(`${JSON.stringify({ port })}\n`);
  } else if (command === 'serve') {
    process.on('unhandledRejection', (error) => log(`a rejection that nothing handles: ${asFault(error).message}`));
    await serve(apiPathsOf(argument));
  } else throw new Fault('invalid', 'usage: carrel-agent-api start | serve');
}

try {
  await run();
  process.exit(0);
} catch (error) {
  const { code, message, hint } = asFault(error);
  process.stderr.write(`carrel-agent-api: ${message}\n${hint ? `hint: ${hint}\n` : ''}`);
  process.exit(faultTable[code].exit);
}
