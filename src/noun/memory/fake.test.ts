import { memoryConformance } from '../../../test/conformance/memory.ts';
import { FakeMemory } from './fake.ts';

memoryConformance('the fake memory', (limits, clock) => new FakeMemory(limits, () => clock.now));
