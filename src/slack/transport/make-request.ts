import type { Caller } from '../../app/authorize/use-case.ts';
import { strongestRole } from '../../domain/access.ts';
import { explain } from './explain-error.ts';
import type { Reply, SlackRequest, Workbench } from './request.ts';

/** Puts together what a command, a button or a modal is handled with. */
export function makeRequest(
  bench: Workbench,
  caller: Caller,
  reply: Reply,
  triggerId: string | undefined,
): SlackRequest {
  return {
    bench,
    caller,
    reply,
    ...(triggerId === undefined ? {} : { triggerId }),
    execute: (useCase, input) => bench.entry.execute(useCase, input, caller),
    authorize: (useCase) => bench.entry.authorize(useCase, caller),
    role: async () => strongestRole(await bench.entry.findRoles(caller.actor)),
    explain: (error) => explain(error, bench),
    subrequest: (place) => {
      const { requestId, ...rest } = caller;
      const part = requestId === undefined ? rest : { ...rest, requestId: `${requestId}#${place}` };
      return makeRequest(bench, part, reply, triggerId);
    },
  };
}
