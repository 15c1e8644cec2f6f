// @takes 25 s
/** The local engine keeps the contract with crun. */
import { localSetup } from '../harness/local-engine.ts';
import { engineConformance, mountConformance } from './engine.ts';

engineConformance('local with crun', () => localSetup('crun'));
mountConformance('local with crun', () => localSetup('crun'));
