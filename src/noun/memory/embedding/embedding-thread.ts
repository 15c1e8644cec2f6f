/** The entry point of the thread that makes vectors, because the model uses a whole core. */
import { serveThread } from '../../../lib/wire/thread-objects.ts';
import { modelObjects } from './package-model.ts';

serveThread(modelObjects());
