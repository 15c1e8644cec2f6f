import { storeConformance } from '../../conformance/store.ts';
import { createMemoryStore } from './memory.ts';

storeConformance('the memory store', createMemoryStore);
