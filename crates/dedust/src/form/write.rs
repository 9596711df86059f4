/*!
A form put together again, as a key or as a URL.
*/

use super::{Form, Param, Piece};

impl Form {
    /// Whether all its values are known, so that it can be written as a URL.
    pub fn is_writable(&self) -> bool {
        let known = |piece: &Piece| *piece != Piece::Star;
        !self.parts.path_is_forgotten
            && known(&self.parts.scheme)
            && self.parts.labels.iter().chain(&self.parts.port).chain(&self.parts.segments).all(known)
            && self.parts.params.iter().chain(&self.parts.path_params).all(|param| known(&param.value))
    }

    /// Writes the key: parameters sorted by name, `*` for what does not matter.
    pub fn write_key(&mut self, out: &mut Vec<u8>) {
        let mut order = std::mem::take(&mut self.order);
        self.write(true, &mut order, out);
        self.order = order;
    }

    /// Writes the URL, in the order in which it came.
    pub fn write_url(&self, out: &mut Vec<u8>) {
        self.write(false, &mut Vec::new(), out);
    }

    fn write(&self, sorted: bool, order: &mut Vec<u32>, out: &mut Vec<u8>) {
        let put =
            |piece: Piece, out: &mut Vec<u8>| out.extend_from_slice(self.bytes(piece).unwrap_or_default());
        put(self.parts.scheme, out);
        out.extend_from_slice(b"://");
        for &label in self.parts.labels.iter().rev() {
            put(label, out);
            out.push(b'.');
        }
        put(self.parts.domain, out);
        if let Some(port) = self.parts.port {
            out.push(b':');
            put(port, out);
        }
        if self.parts.path_is_forgotten {
            out.extend_from_slice(b"/*");
        } else {
            if self.parts.segments.is_empty() {
                out.push(b'/');
            }
            for &segment in &self.parts.segments {
                out.push(b'/');
                put(segment, out);
            }
            if !self.parts.path_params.is_empty() && !self.parts.segments.is_empty() {
                out.push(b';');
                self.write_params(&self.parts.path_params, b';', sorted, order, out);
            }
            if self.parts.has_slash {
                out.push(b'/');
            }
        }
        if !self.parts.params.is_empty() {
            out.push(b'?');
            self.write_params(&self.parts.params, self.parts.separator, sorted, order, out);
        }
        if let Some(hashbang) = self.parts.hashbang {
            out.extend_from_slice(b"#!");
            put(hashbang, out);
        }
    }

    fn write_params(
        &self,
        params: &[Param],
        separator: u8,
        sorted: bool,
        order: &mut Vec<u32>,
        out: &mut Vec<u8>,
    ) {
        order.clear();
        order.extend(0..params.len() as u32);
        if sorted {
            let name = |index: &u32| (self.bytes(params[*index as usize].name), *index);
            if !order.is_sorted_by_key(name) {
                order.sort_unstable_by(|a, b| name(a).cmp(&name(b)));
            }
        }
        for (place, &index) in order.iter().enumerate() {
            if place > 0 {
                out.push(separator);
            }
            let Param { name, value, .. } = params[index as usize];
            out.extend_from_slice(self.bytes(name).unwrap_or_default());
            if let Some(value) = self.bytes(value) {
                out.push(b'=');
                out.extend_from_slice(value);
            }
        }
    }
}
