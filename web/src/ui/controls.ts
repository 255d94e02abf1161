import { fill, h, uniqueId } from '../dom';

export interface Option<T> {
  value: T;
  label: string;
  /** A heading that options of one kind share. */
  group?: string;
}

export interface Control<T> {
  element: HTMLElement;
  update(value: T, options?: Option<T>[]): void;
}

/** One of several, from a list that opens. */
export function choose<T extends string | number>(label: string, options: Option<T>[], onchange: (value: T) => void): Control<T> {
  const id = uniqueId('choose');
  let current = options;
  const select = h('select', { id, onchange: () => onchange(current[select.selectedIndex]!.value) });
  const draw = () => {
    const groups = new Map<string, HTMLElement>();
    fill(select);
    for (const option of current) {
      const element = h('option', { value: option.value }, option.label);
      if (option.group === undefined) select.append(element);
      else {
        if (!groups.has(option.group)) {
          groups.set(option.group, h('optgroup', { label: option.group }));
          select.append(groups.get(option.group)!);
        }
        groups.get(option.group)!.append(element);
      }
    }
  };
  draw();
  return {
    element: h('div', { class: 'field' }, h('label', { for: id }, label), select),
    update(value, next) {
      if (next && JSON.stringify(next) !== JSON.stringify(current)) {
        current = next;
        draw();
      }
      select.selectedIndex = current.findIndex((option) => option.value === value);
    },
  };
}

/** One of a few, all in sight. `options`: in full, or values with their labels. */
export function segments<T extends string | number>(
  label: string,
  options: Option<T>[] | (T extends string ? Record<T, string> : never),
  onchange: (value: T) => void,
): Control<T> {
  const name = uniqueId('segments');
  const row = h('div', { class: 'segments' });
  let inputs: HTMLInputElement[] = [];
  let current = Array.isArray(options)
    ? options
    : Object.entries<string>(options).map(([value, text]) => ({ value: value as T, label: text }));
  const draw = () => {
    inputs = current.map((option) =>
      h('input', { type: 'radio', name, value: option.value, onchange: () => onchange(option.value) }),
    );
    fill(
      row,
      current.map((option, i) => h('label', {}, inputs[i]!, option.label)),
    );
  };
  draw();
  return {
    element: h('fieldset', { class: 'field' }, h('legend', {}, label), row),
    update(value, next) {
      if (next && JSON.stringify(next) !== JSON.stringify(current)) {
        current = next;
        draw();
      }
      inputs.forEach((input, i) => (input.checked = current[i]!.value === value));
    },
  };
}

export interface Reading {
  /** The quantity. */
  id: string;
  label: string;
  value: string;
  /** What stands below it. */
  below?: string;
  tone?: 'good' | 'bad' | undefined;
  about?: string;
}

/** Numbers that are looked at first. */
export function readings(): { element: HTMLElement; update(list: Reading[]): void } {
  const element = h('dl', { class: 'readings' });
  let before: { value: HTMLElement; below: HTMLElement; reading: string }[] = [];
  return {
    element,
    update(list) {
      if (before.length !== list.length || list.some((r, i) => before[i]!.reading !== r.label)) {
        before = list.map((r) => ({ value: h('dd'), below: h('dd', { class: 'small' }), reading: r.label }));
        fill(
          element,
          list.map((r, i) =>
            h('div', { class: 'reading', title: r.about }, h('dt', {}, r.label), before[i]!.value, before[i]!.below),
          ),
        );
      }
      list.forEach((r, i) => {
        const { value, below } = before[i]!;
        if (value.textContent !== r.value) value.textContent = r.value;
        if (below.textContent !== (r.below ?? '')) below.textContent = r.below ?? '';
        below.className = `small ${r.tone ?? ''}`;
      });
    },
  };
}
