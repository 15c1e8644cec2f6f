import type { SandboxPart } from '../../noun/sandbox/part/part.ts';
import { chromaEnv } from './model.ts';

/** The settings of a Chroma client. */
export const chroma: SandboxPart = { additions: (sandbox) => ({ env: chromaEnv(sandbox) }) };
