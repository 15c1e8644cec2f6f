/** The program in the sandbox of a project that the hub talks to, on stdin and stdout. */
import { killLeftovers } from './process-tree.ts';
import { serve } from './serve.ts';

killLeftovers();
await serve('/workspace', process.stdin, process.stdout);
killLeftovers();
process.exit(0);
