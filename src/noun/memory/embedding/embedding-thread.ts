/** The entry point of the thread that makes vectors, because the model uses a whole core. */
import { serveThread } from '../../../lib/wire/thread-objects.ts';
import { hostedModels } from './package-model.ts';

serveThread(hostedModels());
