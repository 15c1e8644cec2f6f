import { storeConformance } from '../../../test/conformance/store.ts';
import { createMemoryStore } from './memory.ts';

storeConformance('the memory store', createMemoryStore);
