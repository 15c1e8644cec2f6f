// @needs first-node
// @takes 50 s
/** The local engine keeps the contract with runc. */
import { localSetup } from '../harness/local-engine.ts';
import { engineConformance, mountConformance } from './engine.ts';

engineConformance('local with runc', () => localSetup('runc'));
mountConformance('local with runc', () => localSetup('runc'));
