import { useContext, useId } from 'preact/hooks';
import type { Json } from '../../../slack/page-api.ts';
import { ElementView } from '../elements/element-view.tsx';
import { SurfaceContext } from '../elements/surface.ts';
import { objectIn, textIn } from '../json.ts';
import { plainWords } from '../text/text-view.tsx';

/** An input with its label above, its hint and its error below. */
export function InputBlock({ block }: { readonly block: Json }) {
  const { errors } = useContext(SurfaceContext);
  const id = useId();
  const element = objectIn(block, 'element');
  const hint = plainWords(objectIn(block, 'hint'));
  const error = errors[textIn(block, 'block_id')];
  return (
    <div class={error ? 'input wrong' : 'input'}>
      <label class="input-label" id={id} for={`${id}-field`}>
        {plainWords(objectIn(block, 'label'))}
        {block.optional === true && <span class="optional"> (optional)</span>}
      </label>
      {element && (
        <ElementView
          block={block}
          element={element}
          labelId={id}
          describedBy={`${id}-error ${id}-hint`}
          isWrong={error !== undefined}
        />
      )}
      <div class="input-error" id={`${id}-error`} role="alert">
        {error}
      </div>
      {hint && (
        <div class="input-hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
    </div>
  );
}
