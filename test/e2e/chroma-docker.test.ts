// @needs root
import { describe } from 'vitest';
import { chromaInSandboxes } from './chroma.ts';

describe('Chroma in sandboxes, docker', () => chromaInSandboxes('docker'));
