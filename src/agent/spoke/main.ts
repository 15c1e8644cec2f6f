/** The program in the sandbox of a project that the hub talks to, on stdin and stdout. */
import { serve } from './serve.ts';

await serve('/workspace', process.stdin, process.stdout);
process.exit(0);
