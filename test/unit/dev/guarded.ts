/** A process that waits to be killed; its guard creates the file that it is given. */
import { onceGone } from '../../../dev/guard.ts';

onceGone(`touch '${process.argv[2] ?? ''}'`);
console.log('guarded');
setInterval(() => undefined, 1_000);
